package rowio

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// decimals returns what reads a column of decimals as texts, with as many digits after the
// point as their type says.
func decimals(kind parquet.Kind, scale int) func(leaf, *parquet.FileColumnChunk) column {
	ofBytes := func(b []byte) string { return decimalOf(b, scale) }
	switch kind {
	case parquet.Int32:
		return asTexts(int32s, func(v int32) string { return decimalText(strconv.FormatInt(int64(v), 10), scale) })
	case parquet.Int64:
		return asTexts(int64s, func(v int64) string { return decimalText(strconv.FormatInt(v, 10), scale) })
	case parquet.FixedLenByteArray:
		return asTexts(fixedBytes, ofBytes)
	case parquet.ByteArray:
		return func(l leaf, chunk *parquet.FileColumnChunk) column { return texts(l, chunk, ofBytes) }
	}
	return nil
}

// fixedBytes returns the values of a page, each of as many bytes as the column says.
func fixedBytes(p parquet.Page) (all [][]byte) {
	v := p.Data()
	data, size := v.FixedLenByteArray()
	for size > 0 && len(data) >= size {
		all, data = append(all, data[:size:size]), data[size:]
	}
	return all
}

// signed returns a number in two's complement, its highest byte first.
func signed(b []byte) *big.Int {
	n := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return n
}

// decimalOf returns a number that is stored in bytes.
func decimalOf(b []byte, scale int) string {
	if len(b) > mostDecimal {
		return fmt.Sprintf("decimal of %d bytes", len(b))
	}
	return decimalText(signed(b).String(), scale)
}

// decimalText puts the point into the digits of a number.
func decimalText(digits string, scale int) string {
	if scale <= 0 || scale > maxScale {
		return digits
	}
	sign := ""
	if rest, ok := strings.CutPrefix(digits, "-"); ok {
		sign, digits = "-", rest
	}
	if missing := scale + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	return sign + digits[:len(digits)-scale] + "." + digits[len(digits)-scale:]
}

// mostDecimal bounds the bytes of a number, which Arrow's largest type has 32 of: digits of a long
// one take long to make.
const mostDecimal = 64

// maxScale bounds the digits after the point: a footer may say anything.
const maxScale = 1000
