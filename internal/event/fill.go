package event

import (
	"fmt"
	"reflect"
)

// Fill returns e with the text of every blob it names beside the blob's name, so
// that it can be read without the blobs. The event given is left as it is.
func Fill(e Event, text func(Content) (string, error)) (Event, error) {
	if _, ok := e.Body.(Unknown); ok {
		return e, nil
	}
	p, err := EncodeBody(e.Body)
	if err != nil {
		return e, err
	}
	b, err := DecodeBody(Kind(e.Body), p) // a deep copy
	if err != nil {
		return e, err
	}
	v := reflect.New(reflect.TypeOf(b)).Elem()
	v.Set(reflect.ValueOf(b))
	if err := fill(v, text); err != nil {
		return e, fmt.Errorf("event %d of %s: %w", e.Seq, e.Flow, err)
	}
	e.Body = v.Interface().(Body)
	return e, nil
}

func fill(v reflect.Value, text func(Content) (string, error)) error {
	if c, ok := v.Interface().(Content); ok {
		if c.Blob == "" || c.Text != "" {
			return nil
		}
		s, err := text(c)
		if err != nil {
			return err
		}
		c.Text = s
		v.Set(reflect.ValueOf(c))
		return nil
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if err := fill(v.Field(i), text); err != nil {
				return err
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			if err := fill(v.Index(i), text); err != nil {
				return err
			}
		}
	case reflect.Pointer:
		if !v.IsNil() {
			return fill(v.Elem(), text)
		}
	}
	return nil
}
