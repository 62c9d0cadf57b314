// Owns the precompiled header that the targets using Asio share.
