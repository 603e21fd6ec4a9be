package provision

// systemFindings are what doctor looks at in a Linux that runs the nodes itself.
func systemFindings() []finding {
	return []finding{findCgroup(), findCapability(), findLimits(), findModules(), findInotify()}
}
