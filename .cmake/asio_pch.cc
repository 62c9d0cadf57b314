// Owns the precompiled header that all targets with Asio share.
