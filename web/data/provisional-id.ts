/** Of what the server does not know yet. `crypto.randomUUID` is there over secure connections alone. */
export const provisionalId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
