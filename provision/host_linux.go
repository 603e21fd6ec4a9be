package provision

// systemFindings examine a Linux that runs the nodes itself.
func systemFindings() []finding {
	return []finding{findCgroup(), findCapability(), findLimits(), findModules(), findInotify()}
}
