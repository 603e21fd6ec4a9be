package matchers

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

	"gsb.test/jobset-e2e/e2e/snapshot"
)

// Every mismatch has its two sentences where it is made: the compiler asks for
// words, and here they are looked at, whether any snapshot leads to them or not.
func TestEveryMismatchHasTwoSentences(t *testing.T) {
	t.Parallel()
	files := token.NewFileSet()
	sources, err := filepath.Glob("*.go")
	others, othersErr := filepath.Glob("../internal/files/*.go")
	if err != nil || othersErr != nil {
		t.Fatal(err, othersErr)
	}
	sources = append(sources, others...)
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
				if kind, ok := n.Type.(*ast.Ident); ok && kind.Name == "Mismatch" && name != "mismatch.go" {
					t.Errorf("%s: a Mismatch is made without NewMismatch", at())
				}
			case *ast.CallExpr:
				called, ok := n.Fun.(*ast.SelectorExpr)
				if !ok || called.Sel.Name != "TextOf" {
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

func TestACheckCollectsAllThatDoesNotHold(t *testing.T) {
	t.Parallel()
	empty := &snapshot.Snapshot{Namespace: "ml"}
	holds := Matcher[snapshot.File](func(snapshot.File) *Mismatch { return nil })
	open := Matcher[snapshot.File](func(snapshot.File) *Mismatch { return &Mismatch{Code: "Open", Inconclusive: true} })
	c := &Check{}
	Expect(c, empty.File("x"), holds)
	Expect(c, empty.File("big.txt"), Say("restarts", 1))
	Expect(c, empty.File("big.txt"), Say("admitted", 1)) // the same reason: kept once
	Expect(c, empty.File("x"), open)
	Expect(c, empty.JobSet("hello"), HaveCompleted())
	if first := c.First(); first == nil || first.Code != FileNotFound || len(first.Rows) != 1 {
		t.Errorf("the first is %+v", first)
	}
	if len(c.Mismatches) != 2 || c.Mismatches[1].Code != JobSetNotFound || len(c.Inconclusive) != 1 {
		t.Errorf("refused are %v, open are %v", c.Mismatches, c.Inconclusive)
	}
}
