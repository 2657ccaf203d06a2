import { afterAll } from "bun:test";
import { createRunFolder, removeRunFolder } from "./run-folder.ts";

// Loaded before all tests. Every temporary folder of a run is inside one folder, so that nothing
// remains after a worker is killed. `bun run verify` creates it for all workers, a direct `bun
// test` here.
if (process.env["TEST_RUN_FOLDER"] === undefined) {
  const folder = createRunFolder();
  process.env["TMPDIR"] = folder;
  // In a preloaded file, this runs once after the last test; "exit" is not emitted in test processes.
  afterAll(() => removeRunFolder(folder));
}
