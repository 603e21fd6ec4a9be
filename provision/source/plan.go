package source

import (
	"path/filepath"
	"strings"

	"gsb.test/jobset-e2e/fixtures"
	"gsb.test/jobset-e2e/provision/images"
)

// recipe is part of every key: raise it when the code here makes something else
// of the same inputs.
const recipe = "1"

// assembly is the same for the set alone, such as its manifests, and not for its parts.
const assembly = "2"

// plan is what the set of a checkout is made from, as read from files.
type plan struct {
	checkout string
	modules  module
	pins     fixtures.Pins
	gpu      fakeGPU
	// inputs are the inputs of each part, the compiler left out.
	inputs map[string][]string

	kind                      string // version of the kind library
	kubernetes, jobSet, kueue string // versions
}

func (b Builder) plan() (plan, error) {
	checkout, p := b.Checkout, plan{checkout: b.Checkout, pins: b.Pins}
	var err error
	if p.modules, err = openModule(filepath.Join(checkout, "provision", "source", "programs")); err != nil {
		return plan{}, err
	}
	suite, err := openModule(checkout)
	if err != nil {
		return plan{}, err
	}
	for _, pin := range []struct {
		from module
		path string
		to   *string
	}{
		{suite, "sigs.k8s.io/kind", &p.kind},
		{p.modules, "k8s.io/kubernetes", &p.kubernetes},
		{p.modules, "sigs.k8s.io/jobset", &p.jobSet},
		{p.modules, "sigs.k8s.io/kueue", &p.kueue},
	} {
		if *pin.to, err = pin.from.version(pin.path); err != nil {
			return plan{}, err
		}
	}
	programs, err := images.FilesIn(p.modules.dir, func(string) bool { return true })
	if err != nil {
		return plan{}, err
	}
	args, err := p.modules.buildArgs()
	if err != nil {
		return plan{}, err
	}
	if p.gpu, err = readFakeGPU(checkout); err != nil {
		return plan{}, err
	}
	p.inputs = map[string][]string{
		"programs": append(append(programs, args...), strings.Join(goEnv, " ")),
		"fake-gpu": p.gpu.inputs,
		"debian":   {strings.Join(append(nodeOptions, nodePackages...), "\n"), suiteName, p.pins.Image},
		"proxy":    {strings.Join(append(proxyOptions, proxyPackages...), "\n"), suiteName},
	}
	return p, nil
}

// keys are the parts' keys. Without a compiler they are the same on every machine.
func (p plan) keys(compiler string) map[string]images.Key {
	keys := map[string]images.Key{}
	for name, inputs := range p.inputs {
		keys[name] = partKey(inputs, compiler)
	}
	return keys
}

func partKey(inputs []string, compiler string) images.Key {
	return images.KeyOf(append(append([]string{}, inputs...), compiler, recipe)...)
}

// whole is the key of the set.
func (p plan) whole(compiler string) images.Key {
	keys := p.keys(compiler)
	return images.KeyOf(keys["programs"].String(), keys["fake-gpu"].String(), keys["debian"].String(), keys["proxy"].String(),
		p.gpu.Manifest, p.kind, conflist, storageClass, recipe, assembly)
}
