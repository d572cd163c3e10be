// Reads series and queries as JSON from standard input, and writes the values of each query, or what the engine objects to.
package main

import (
	"context"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/tsdb"
)

type input struct {
	Folder  string
	Start   int64
	Step    int64
	Series  map[string]string
	Queries []struct {
		Query       string
		Millisecond int64
	}
}

func main() {
	var task input
	check(json.NewDecoder(os.Stdin).Decode(&task))
	ctx := context.Background()
	options := tsdb.DefaultOptions()
	db, err := tsdb.Open(task.Folder, nil, nil, options, nil)
	check(err)
	for name, values := range task.Series {
		appender := db.Appender(ctx)
		for position, text := range strings.Fields(values) {
			if text == "_" {
				continue
			}
			value, err := strconv.ParseFloat(text, 64)
			check(err)
			at := (task.Start + int64(position)*task.Step) * 1000
			_, err = appender.Append(0, labels.FromStrings("__name__", name), at, value)
			check(err)
		}
		check(appender.Commit())
	}
	engine := promql.NewEngine(promql.EngineOpts{
		Timeout:                  time.Minute,
		MaxSamples:               1000000,
		EnableAtModifier:         true,
		EnableNegativeOffset:     true,
		NoStepSubqueryIntervalFn: func(int64) int64 { return 60000 },
	})
	answers := []any{}
	for _, question := range task.Queries {
		at := time.UnixMilli(task.Start*1000 + question.Millisecond)
		query, err := engine.NewInstantQuery(ctx, db, nil, question.Query, at)
		if err != nil {
			answers = append(answers, err.Error())
			continue
		}
		result := query.Exec(ctx)
		if result.Err != nil {
			answers = append(answers, result.Err.Error())
			continue
		}
		values := []string{}
		switch value := result.Value.(type) {
		case promql.Vector:
			for _, sample := range value {
				values = append(values, strconv.FormatFloat(sample.F, 'g', -1, 64))
			}
		case promql.Scalar:
			values = append(values, strconv.FormatFloat(value.V, 'g', -1, 64))
		}
		answers = append(answers, values)
	}
	check(json.NewEncoder(os.Stdout).Encode(answers))
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
