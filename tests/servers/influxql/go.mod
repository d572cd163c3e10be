module plimsoll/native/influxql

go 1.24

// The version the InfluxDB of ../influxd parses with.
require github.com/influxdata/influxql v1.2.0

require google.golang.org/protobuf v1.27.1 // indirect
