"""The docs site: `python -m tests.site` runs the tutorials and keeps what they show; the tests beside it look at the result."""
