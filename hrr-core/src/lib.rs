//! The engine: descriptors, recorder, archive, replayer, loader
