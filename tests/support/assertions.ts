import { beforeEach, expect } from "bun:test";

// A test that asserts nothing passes whatever happens.
beforeEach(() => {
  try {
    expect.hasAssertions();
  } catch {
    // Bun counts no assertions of tests that run side by side.
  }
});
