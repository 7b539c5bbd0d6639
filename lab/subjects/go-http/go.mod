module hocket/lab/subjects/go-http

go 1.19
