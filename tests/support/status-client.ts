/** The text at an address as soon as it is as wanted; throws when it is not within 10 seconds. */
export async function until(
  address: string,
  isWanted: (text: string) => boolean,
  headers: Record<string, string> = {},
): Promise<string> {
  const patience = performance.now() + 10_000;
  for (;;) {
    const text = await (await fetch(address, { headers })).text();
    if (isWanted(text)) return text;
    if (performance.now() > patience) throw new Error(`${address} still says ${text}`);
    await Bun.sleep(20);
  }
}
