module hocket/lab/subjects/go

go 1.19
