/** The JSON object that a service answered with; an empty one where it answered something else. */
export function objectIn(body: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

/** Seconds to wait, rounded up; null for what is no number of seconds. */
export function patienceIn(seconds: unknown): number | null {
  return Number.isFinite(seconds) && (seconds as number) >= 0 ? Math.ceil(seconds as number) : null;
}
