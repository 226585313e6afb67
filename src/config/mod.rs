//! What the file, the environment and flags may say, made into validated settings.
