//! The hrr command
