package lab

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
)

// Every refusal has its two sentences where it is made: the compiler asks for
// words, and here they are looked at, whether any snapshot leads to them or not.
func TestEveryRefusalHasTwoSentences(t *testing.T) {
	files := token.NewFileSet()
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	verb := regexp.MustCompile(`%[+#]?(\[\d+\])?[a-z]`)
	told := 0
	for _, name := range sources {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(files, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(node ast.Node) bool {
			at := func() string { return files.Position(node.Pos()).String() }
			switch n := node.(type) {
			case *ast.CompositeLit:
				if kind, ok := n.Type.(*ast.Ident); ok && kind.Name == "Refusal" && name != "refusal.go" {
					t.Errorf("%s: a Refusal is made without refuse", at())
				}
			case *ast.CallExpr:
				called, ok := n.Fun.(*ast.Ident)
				if !ok || called.Name != "tell" {
					return true
				}
				told++
				ko, en := literal(n.Args[0]), literal(n.Args[1])
				if !strings.ContainsFunc(ko, hangul) || en == "" || strings.ContainsFunc(en, hangul) {
					t.Errorf("%s: Korean %q, English %q", at(), ko, en)
				}
				if strings.HasSuffix(ko, ".") != strings.HasSuffix(en, ".") {
					t.Errorf("%s: only one is a sentence: %q, %q", at(), ko, en)
				}
				// Sentences in different order number their values.
				inKO, inEN := verb.FindAllString(ko, -1), verb.FindAllString(en, -1)
				if !strings.Contains(ko+en, "%[") && !slices.Equal(inKO, inEN) {
					t.Errorf("%s: the sentences take %v and %v", at(), inKO, inEN)
				}
			}
			return true
		})
	}
	if told < 60 {
		t.Errorf("only %d pairs of sentences were found", told)
	}
}

func hangul(r rune) bool { return unicode.Is(unicode.Hangul, r) }

// literal is the text of a string expression as far as the source has it.
func literal(expression ast.Expr) string {
	switch e := expression.(type) {
	case *ast.BasicLit:
		text, _ := strconv.Unquote(e.Value)
		return text
	case *ast.BinaryExpr:
		return literal(e.X) + literal(e.Y)
	}
	return ""
}

// A Check that asserts in another way than by a judgement has no words for a
// learner, so it fails at once and not only where it would not hold.
func TestACheckSaysJudgementsOnly(t *testing.T) {
	empty := &Snapshot{Namespace: "ml"}
	for what, check := range map[string]func(g gomega.Gomega){
		"another matcher":           func(g gomega.Gomega) { g.Expect(1).To(gomega.Equal(1)) },
		"a judgement of else":       func(g gomega.Gomega) { g.Expect(empty.File("x")).To(HaveCompleted()) },
		"a judgement turned round":  func(g gomega.Gomega) { g.Expect(File{Name: "x"}).NotTo(holdsAlways()) },
		"a matcher that fails, not": func(g gomega.Gomega) { g.Expect(1).NotTo(gomega.Equal(1)) },
	} {
		caught := func() (caught any) {
			defer func() { caught = recover() }()
			refusalOf(check)
			return nil
		}()
		if text, ok := caught.(string); !ok || !strings.Contains(text, foreign) {
			t.Errorf("%s: %v", what, caught)
		}
	}
}

func holdsAlways() types.GomegaMatcher { return judgement(func(File) *Refusal { return nil }) }

func TestARefusalIsHandedOverItself(t *testing.T) {
	empty := &Snapshot{Namespace: "ml"}
	first := func(g gomega.Gomega) {
		g.Expect(empty.File("x")).To(holdsAlways())
		g.Expect(empty.File("big.txt")).To(Say("restarts", 1))
		t.Error("the Check went on behind a refusal")
	}
	refusal, open := refusalOf(first)
	if refusal == nil || len(open) > 0 || refusal.Words.KO != "작업 디렉터리에 big.txt 파일이 없습니다." || len(refusal.Rows) != 1 {
		t.Errorf("the refusal is %+v, open are %v", refusal, open)
	}
	if text := judged(first); text != refusal.String() {
		t.Errorf("its text is %q", text)
	}
	left := judgement(func(File) *Refusal { return &Refusal{Sentence: "left", Open: true} })
	refusal, open = refusalOf(func(g gomega.Gomega) { g.Expect(File{}).To(left) })
	if refusal != nil || len(open) != 1 {
		t.Errorf("one that is left open is refused: %v, %v", refusal, open)
	}
}
