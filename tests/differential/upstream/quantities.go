package main

import (
	"gopkg.in/inf.v0"
	"k8s.io/apimachinery/pkg/api/resource"
)

// The exact number in 10^-9, its notation, and its canonical text.
type quantityAnswer struct {
	Nanos  string `json:"nanos"`
	Format string `json:"format"`
	Text   string `json:"text"`
}

func describe(q resource.Quantity) quantityAnswer {
	number := q.DeepCopy()
	// Adding zero drops the source text, which a parsed quantity would repeat.
	number.Add(resource.Quantity{Format: number.Format})
	text := number.String()
	nanos := new(inf.Dec).Round(number.AsDec(), 9, inf.RoundUp)
	format := q.Format
	if format == "" {
		format = resource.DecimalSI // for null: a zero without a format, which the addition would set
	}
	return quantityAnswer{Nanos: nanos.UnscaledBig().String(), Format: string(format), Text: text}
}

type quantitiesAnswer struct {
	LeftError  string         `json:"leftError,omitempty"`
	RightError string         `json:"rightError,omitempty"`
	Left       quantityAnswer `json:"left"`
	Right      quantityAnswer `json:"right"`
	Sum        quantityAnswer `json:"sum"`
	Difference quantityAnswer `json:"difference"`
	Product    quantityAnswer `json:"product"`
	WholeUp    quantityAnswer `json:"wholeUp"`
	MilliUp    quantityAnswer `json:"milliUp"`
	Order      int            `json:"order"`
}

func answerQuantities(leftText, rightText string, times int64) quantitiesAnswer {
	var answer quantitiesAnswer
	left, err := resource.ParseQuantity(leftText)
	if err != nil {
		answer.LeftError = err.Error()
	} else {
		answer.Left = describe(left)
	}
	right, err := resource.ParseQuantity(rightText)
	if err != nil {
		answer.RightError = err.Error()
	} else {
		answer.Right = describe(right)
	}
	if answer.LeftError != "" || answer.RightError != "" {
		return answer
	}
	changed := func(change func(*resource.Quantity)) quantityAnswer {
		q := left.DeepCopy()
		change(&q)
		return describe(q)
	}
	answer.Sum = changed(func(q *resource.Quantity) { q.Add(right) })
	answer.Difference = changed(func(q *resource.Quantity) { q.Sub(right) })
	answer.Product = changed(func(q *resource.Quantity) { q.Mul(times) })
	answer.WholeUp = changed(func(q *resource.Quantity) { q.RoundUp(0) })
	answer.MilliUp = changed(func(q *resource.Quantity) { q.RoundUp(resource.Milli) })
	answer.Order = left.Cmp(right)
	return answer
}
