package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/rhysd/actionlint"
)

// values are what expressions see: matrix, inputs, secrets and so on.
type values map[string]any

// errOnlyGitHub is why an expression has no value here.
var errOnlyGitHub = errors.New("only GitHub knows it")

// resolve puts the values of the expressions of a text in their place.
func (v values) resolve(text string) (string, error) {
	var resolved strings.Builder
	for {
		before, rest, found := strings.Cut(text, "${{")
		resolved.WriteString(before)
		if !found {
			return resolved.String(), nil
		}
		expression, after, found := strings.Cut(rest, "}}")
		if !found {
			return "", fmt.Errorf("%q has no end", text)
		}
		value, err := v.evaluate(expression)
		if err != nil {
			return "", err
		}
		resolved.WriteString(written(value))
		text = after
	}
}

// evaluate gives the value of an expression, without its ${{ }}.
func (v values) evaluate(expression string) (any, error) {
	node, failed := actionlint.NewExprParser().Parse(actionlint.NewExprLexer(expression + "}}"))
	if failed != nil {
		return nil, failed
	}
	value, err := v.value(node)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", strings.TrimSpace(expression), err)
	}
	return value, nil
}

func (v values) value(node actionlint.ExprNode) (any, error) {
	switch node := node.(type) {
	case *actionlint.NullNode:
		return nil, nil
	case *actionlint.BoolNode:
		return node.Value, nil
	case *actionlint.StringNode:
		return node.Value, nil
	case *actionlint.IntNode:
		return strconv.Itoa(node.Value), nil
	case *actionlint.VariableNode:
		if value, ok := v[node.Name]; ok {
			return value, nil
		}
		return nil, fmt.Errorf("%s: %w", node.Name, errOnlyGitHub)
	case *actionlint.ObjectDerefNode:
		return v.property(node)
	case *actionlint.LogicalOpNode:
		left, err := v.value(node.Left)
		if err != nil || truth(left) == (node.Kind == actionlint.LogicalOpNodeKindOr) {
			return left, err
		}
		return v.value(node.Right)
	case *actionlint.NotOpNode:
		value, err := v.value(node.Operand)
		return !truth(value), err
	case *actionlint.CompareOpNode:
		left, err := v.value(node.Left)
		if err != nil {
			return nil, err
		}
		right, err := v.value(node.Right)
		equal := strings.EqualFold(written(left), written(right))
		switch node.Kind {
		case actionlint.CompareOpNodeKindEq:
			return equal, err
		case actionlint.CompareOpNodeKindNotEq:
			return !equal, err
		}
	case *actionlint.FuncCallNode:
		return v.call(node)
	}
	return nil, fmt.Errorf("%T is an expression that this program does not know", node)
}

// property is a field of an object. What an object of GitHub's own does not hold is
// not known here; a secret that nobody gave is nothing.
func (v values) property(node *actionlint.ObjectDerefNode) (any, error) {
	of, err := v.value(node.Receiver)
	if err != nil {
		return nil, err
	}
	object, ok := of.(values)
	if !ok {
		return nil, fmt.Errorf("%s is of no object", node.Property)
	}
	if value, ok := object[node.Property]; ok {
		return value, nil
	}
	if variable, ok := node.Receiver.(*actionlint.VariableNode); ok && variable.Name == "secrets" {
		return nil, nil
	}
	return nil, fmt.Errorf("%s: %w", node.Property, errOnlyGitHub)
}

func (v values) call(node *actionlint.FuncCallNode) (any, error) {
	var args []any
	for _, arg := range node.Args {
		value, err := v.value(arg)
		if err != nil {
			return nil, err
		}
		args = append(args, value)
	}
	switch strings.ToLower(node.Callee) {
	case "always":
		return true, nil
	case "success", "failure":
		return truth(v["job failed"]) == (node.Callee == "failure"), nil
	case "format":
		text := written(args[0])
		for i, arg := range args[1:] {
			text = strings.ReplaceAll(text, fmt.Sprintf("{%d}", i), written(arg))
		}
		return text, nil
	}
	return nil, fmt.Errorf("%s(): %w", node.Callee, errOnlyGitHub)
}

// truth is what counts as true in an expression.
func truth(value any) bool {
	switch value := value.(type) {
	case nil:
		return false
	case bool:
		return value
	case string:
		return value != ""
	}
	return true
}

func written(value any) string {
	if value == nil {
		return ""
	}
	return fmt.Sprint(value)
}
