const maxBytes = 4_096;

/** What a form sent (application/x-www-form-urlencoded); nothing of one that is too long. */
export async function fieldsOf(request: Request): Promise<Record<string, string>> {
  const length = Number(request.headers.get("content-length") ?? maxBytes + 1);
  return Object.fromEntries(new URLSearchParams(length > maxBytes ? "" : await request.text()));
}
