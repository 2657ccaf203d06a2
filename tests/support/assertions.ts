import { beforeEach, expect } from "bun:test";

// A test without assertions always passes.
beforeEach(() => {
  try {
    expect.hasAssertions();
  } catch {
    // Bun does not count assertions of concurrent tests.
  }
});
