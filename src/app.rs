//! Settings -> bind -> run -> drain.
