//! Results become HTTP responses and gRPC statuses. The only place that names status codes of ours.
