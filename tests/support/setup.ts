import { setDefaultTimeout } from "bun:test";

// Most tests wait for something outside: what takes long on a busy machine is no failure.
setDefaultTimeout(120_000);
