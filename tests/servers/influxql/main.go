// Influxql says which InfluxQL queries InfluxDB would not parse.
//
// It reads a JSON list of queries from standard input and writes a JSON list as long:
// null for a query that parses, else what the parser says.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/influxdata/influxql"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "influxql:", err)
		os.Exit(2)
	}
}

func run() error {
	var queries []string
	if err := json.NewDecoder(os.Stdin).Decode(&queries); err != nil {
		return fmt.Errorf("standard input is not a JSON list of queries: %w", err)
	}
	faults := make([]*string, len(queries))
	for i, query := range queries {
		if _, err := influxql.ParseQuery(query); err != nil {
			said := err.Error()
			faults[i] = &said
		}
	}
	return json.NewEncoder(os.Stdout).Encode(faults)
}
