package main

import (
	"errors"
	"testing"

	. "github.com/onsi/gomega"
)

func TestTheTieNeedsBothAcceptanceAndAStream(t *testing.T) {
	g := NewWithT(t)
	tie := newRegistration()
	g.Expect(tie.state()).To(MatchError("not tried yet"))

	tie.streamOpened() // somebody lists the devices, but nobody accepted them
	g.Expect(tie.state()).To(MatchError("not tried yet"))
	tie.accept()
	g.Expect(tie.state()).To(Succeed())
	tie.streamOpened()
	tie.streamClosed()
	g.Expect(tie.state()).To(Succeed())
	g.Expect(tie.ended()).To(Equal(false))

	tie.streamClosed()
	g.Expect(tie.ended()).To(Equal(true))
	g.Expect(tie.state()).To(MatchError(ContainSubstring("keeps no list")))
	tie.lose(errors.New("kubelet went away"))
	g.Expect(tie.ended()).To(Equal(false))
	g.Expect(tie.state()).To(MatchError("kubelet went away"))

	tie.accept()
	g.Expect(tie.ended()).To(Equal(false), "no stream was opened yet")
	g.Expect(tie.state()).To(MatchError(ContainSubstring("keeps no list")))
}
