package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"gsb.test/jobset-e2e/fixtures"
	"gsb.test/jobset-e2e/provision/labs"
)

// recorder stands for each program that the Makefile runs: it notes its arguments and
// environment, and runs what it is told to, as lab with does.
const recorder = `#!/bin/bash
{ printf '\0one run\0%s\0' "${0##*/}"; printf '%s\0' "$@"; printf '\0its environment\0'; env -0; } >>"$RECORD"
case ${1:-} in
with) shift; [ "$1" != -- ] || shift; LAB_KUBECONFIG=/of/the/lab exec "$@" ;;
esac
`

// compiler stands for go: what it is told to build is the recorder.
const compiler = `#!/bin/bash
while [ $# -gt 1 ]; do
	if [ "$1" = -o ]; then mkdir -p "$(dirname "$2")"; cp "$RECORDER" "$2"; fi
	shift
done
`

// copied is a folder where the Makefile and .ci/gate are real, and nothing else is.
type copied struct{ folder, tools, record, trap string }

func copyMakefile(t *testing.T) copied {
	t.Helper()
	g := NewWithT(t)
	c := copied{folder: t.TempDir(), tools: t.TempDir()}
	c.record, c.trap = filepath.Join(c.tools, "record"), filepath.Join(c.tools, "trap")
	write := func(path, content string) {
		g.Expect(os.MkdirAll(filepath.Dir(path), 0o755)).To(Succeed())
		g.Expect(os.WriteFile(path, []byte(content), 0o755)).To(Succeed())
	}
	for _, real := range []string{"Makefile", ".ci/gate"} {
		content, err := os.ReadFile(filepath.Join("../../..", real))
		g.Expect(err).NotTo(HaveOccurred())
		write(filepath.Join(c.folder, real), string(content))
	}
	write(filepath.Join(c.tools, "recorder"), recorder)
	write(filepath.Join(c.tools, "go"), compiler)
	write(filepath.Join(c.tools, "ssh"), recorder+"echo x86_64\n")
	return c
}

// make runs make with what a user gives it, in the environment or as arguments.
func (c copied) make(t *testing.T, environment, arguments []string) (said string, err error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "make", arguments...)
	command.Dir = c.folder
	command.Env = append([]string{"PATH=" + c.tools + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + c.tools,
		"RECORD=" + c.record, "RECORDER=" + filepath.Join(c.tools, "recorder")}, environment...)
	out, err := command.CombinedOutput()
	return string(out), err
}

// runs are the arguments, the program's name first, and the environment of each run.
func (c copied) runs(g *WithT) (arguments [][]string, environments []map[string]string) {
	content, err := os.ReadFile(c.record)
	g.Expect(err).To(Or(Succeed(), MatchError(os.ErrNotExist)))
	for run := range bytes.SplitSeq(content, []byte("\x00one run\x00")) {
		before, after, found := strings.Cut(string(run), "\x00\x00its environment\x00")
		if !found {
			continue
		}
		arguments = append(arguments, strings.Split(before, "\x00"))
		environment := map[string]string{}
		for line := range strings.SplitSeq(after, "\x00") {
			name, value, _ := strings.Cut(line, "=")
			environment[name] = value
		}
		environments = append(environments, environment)
	}
	return arguments, environments
}

// hostile is a value that acts wherever make or a shell expands it.
func (c copied) hostile() string {
	touch := "touch " + c.trap
	return strings.Join([]string{"it's", `a "quoted" one`, "; " + touch + " ;", "'; " + touch + "; '", `"; ` + touch + `; "`,
		"$(shell " + touch + ")", "$(" + touch + ")", "`" + touch + "`", "$$HOME ${HOME} \\ * ~ # |" + touch, "\n" + touch + "\n# end"}, " ")
}

// given are the variables that a user gives, the ones with a rule of their own left out.
var given = []string{"LAB_ENGINE", "LAB_IMAGES", "LAB_MIRROR", "LAB_KUBECONFIG", "LAB_IMAGE", "LAB_WORKDIR", "LAB_REPORTS",
	"STEP", "KEEP", "FRESH", "FAULT", "SSH", "SSH_PORT", "SSH_KEY", "SSH_KNOWN_HOSTS", "KUBECONFIG_CONTENT", "WAIT"}

var targets = []string{"e2e", "test", "up", "steps", "check", "down", "doctor", "list", "faults", "update", "images", "gate", "dist", "lint"}

func TestNoTargetExpandsWhatAUserGives(t *testing.T) {
	for _, target := range targets {
		for _, way := range []string{"environment", "arguments"} {
			t.Run(target+" by "+way, func(t *testing.T) {
				t.Parallel()
				g := NewWithT(t)
				c := copyMakefile(t)
				var values []string
				for _, name := range given {
					values = append(values, name+"="+c.hostile())
				}
				var said string
				if way == "environment" {
					said, _ = c.make(t, values, []string{target}) // some of the values are refused, as they should be
				} else {
					said, _ = c.make(t, nil, append(values, target))
				}
				g.Expect(c.trap).NotTo(BeAnExistingFile(), "%s\nexecuted what it was given", said)
				_, environments := c.runs(g)
				for _, environment := range environments {
					g.Expect(environment["LAB_MIRROR"]).To(Equal(c.hostile()))
					for _, bare := range []string{"STEP", "KEEP", "FRESH"} {
						g.Expect(environment).NotTo(HaveKey(bare), "a program is to read LAB_%s", bare)
					}
				}
			})
		}
	}
}

func TestProgramsGetWhatAUserGives(t *testing.T) {
	for _, one := range []struct {
		target, variable string
		wanted           func(value string) (arguments []string, variable string)
	}{
		{"steps", "STEP", func(string) ([]string, string) { return []string{"lab-e2e", "run"}, "LAB_STEP" }},
		{"steps", "LAB_STEP", func(string) ([]string, string) { return []string{"lab-e2e", "run"}, "LAB_STEP" }},
		{"steps", "LAB_KUBECONFIG", func(string) ([]string, string) { return []string{"lab-e2e", "run"}, "LAB_KUBECONFIG" }},
		{"steps", "LAB_WORKDIR", func(string) ([]string, string) { return []string{"lab-e2e", "run"}, "LAB_WORKDIR" }},
		{"check", "LAB_REPORTS", func(string) ([]string, string) { return []string{"lab-e2e", "check"}, "LAB_REPORTS" }},
		{"up", "KEEP", func(string) ([]string, string) { return []string{"lab", "up"}, "LAB_KEEP" }},
		{"e2e", "FRESH", func(string) ([]string, string) { return []string{"lab-e2e", "run", "--keep"}, "LAB_FRESH" }},
		{"list", "STEP", func(value string) ([]string, string) { return []string{"lab-e2e", "list", "--", value}, "LAB_STEP" }},
		{"update", "LAB_KUBECONFIG", func(string) ([]string, string) { return []string{"lab-e2e", "run"}, "LAB_KUBECONFIG" }},
	} {
		for _, way := range []string{"environment", "arguments"} {
			t.Run(one.target+" "+one.variable+" by "+way, func(t *testing.T) {
				t.Parallel()
				g := NewWithT(t)
				c := copyMakefile(t)
				value := c.hostile()
				var said string
				var err error
				if way == "environment" {
					said, err = c.make(t, []string{one.variable + "=" + value}, []string{one.target})
				} else {
					said, err = c.make(t, nil, []string{one.target, one.variable + "=" + value})
				}
				g.Expect(err).NotTo(HaveOccurred(), said)
				wanted, variable := one.wanted(value)
				arguments, environments := c.runs(g)
				at := slices.IndexFunc(arguments, func(run []string) bool { return slices.Equal(run, wanted) })
				g.Expect(at).To(BeNumerically(">=", 0), "%q is not among %q", wanted, arguments)
				g.Expect(environments[at][variable]).To(Equal(value))
			})
		}
	}
}

// blankFirst tells a value whose first blanks make itself takes away from an argument.
func blankFirst(value string) bool { return strings.TrimLeft(value, " \n") != value }

func TestFaultsAreWords(t *testing.T) {
	g := NewWithT(t)
	c := copyMakefile(t)
	said, err := c.make(t, []string{"FAULT=quota-2  * --list"}, []string{"faults"})
	g.Expect(err).NotTo(HaveOccurred(), said)
	arguments, _ := c.runs(g)
	g.Expect(arguments).To(ContainElements(
		[]string{"lab-e2e", "faults", "--list", "--", "quota-2", "*", "--list"},
		[]string{"lab-e2e", "faults", "--", "quota-2", "*", "--list"}))
}

// A lab that stands is what make update runs on, and it stays.
func TestUpdateTakesTheLabThatStands(t *testing.T) {
	g := NewWithT(t)
	c := copyMakefile(t)
	said, err := c.make(t, nil, []string{"update"})
	g.Expect(err).To(HaveOccurred())
	g.Expect(said).To(ContainSubstring("No lab of the name gsb-jobset stands. To make it: make up"))
	runs, _ := c.runs(g)
	g.Expect(runs).To(BeEmpty())

	kubeconfig := filepath.Join(c.folder, ".lab/gsb-jobset.kubeconfig")
	g.Expect(os.MkdirAll(filepath.Dir(kubeconfig), 0o755)).To(Succeed())
	g.Expect(os.WriteFile(kubeconfig, nil, 0o600)).To(Succeed())
	said, err = c.make(t, []string{"STEP=4", "KEEP=1"}, []string{"update"})
	g.Expect(err).NotTo(HaveOccurred(), said)
	runs, environments := c.runs(g)
	g.Expect(runs).To(Equal([][]string{{"lab-e2e", "run"}}))
	g.Expect(environments[0]).To(And(HaveKeyWithValue("LAB_KUBECONFIG", kubeconfig), HaveKeyWithValue("LAB_STEP", ""), HaveKeyWithValue("LAB_KEEP", "")))
}

// With a kubeconfig, go test ./e2e runs the steps on its lab.
func TestTestsNeverSeeALab(t *testing.T) {
	g := NewWithT(t)
	c := copyMakefile(t)
	g.Expect(os.WriteFile(filepath.Join(c.tools, "go"), []byte(recorder), 0o755)).To(Succeed())
	said, err := c.make(t, []string{"LAB_KUBECONFIG=/of/a/lab"}, []string{"test"})
	g.Expect(err).NotTo(HaveOccurred(), said)
	runs, environments := c.runs(g)
	g.Expect(runs[1]).To(Equal([]string{"go", "test", "-parallel", "8", "./..."}))
	g.Expect(environments[1]).NotTo(HaveKey("LAB_KUBECONFIG"))
}

// The rule of a lab's name stands in the Makefile too; both must say the same.
func TestEveryTargetChecksTheNameFirst(t *testing.T) {
	c := copyMakefile(t)
	for _, target := range targets {
		t.Run(target, func(t *testing.T) {
			g := NewWithT(t)
			said, err := c.make(t, []string{"LAB_NAME=../x"}, []string{target})
			g.Expect(err).To(HaveOccurred())
			g.Expect(said).To(ContainSubstring("LAB_NAME is ../x; a lab's name is up to 40 small letters, digits and hyphens, such as gsb-jobset"))
			runs, _ := c.runs(g)
			g.Expect(runs).To(BeEmpty())
			g.Expect(filepath.Glob(filepath.Join(c.folder, ".lab*"))).To(BeEmpty())
		})
	}
	for _, name := range []string{"", "gsb-jobset", "a", "9", "ci-12", "-a", "a-", "A", "a_b", "a.b", "a b", " a", "ä", "a\nb", "$(shell touch x)",
		"a;touch x", strings.Repeat("a", 40), strings.Repeat("a", 41)} {
		g := NewWithT(t)
		_, rule := labs.New(fixtures.Pins{}, name)
		ways := [][2][]string{{{"LAB_NAME=" + name}, {"named"}}, {nil, {"named", "LAB_NAME=" + name}}}
		if blankFirst(name) {
			ways = ways[:1]
		}
		for _, give := range ways {
			said, err := c.make(t, give[0], give[1])
			g.Expect(err == nil).To(Equal(rule == nil), fmt.Sprintf("%q: make says %s, provision says %v", name, said, rule))
		}
	}
}
