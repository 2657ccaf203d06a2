/** Writes tar archives (POSIX ustar) with fixed owners and times, so that equal files give equal archives. */

export type TarEntry = {
  /** Path without a leading slash; folders end with a slash. */
  path: string;
  content?: Uint8Array;
  mode?: number;
  /** User and group. */
  owner?: number;
};

const blockBytes = 512;

/** Returns an archive of these entries, in their order. Folders must precede their files. */
export function createTar(entries: readonly TarEntry[], modifiedAt: number): Uint8Array {
  const parts = entries.flatMap((entry) => {
    const content = entry.content ?? new Uint8Array();
    const padding = new Uint8Array(-content.length & (blockBytes - 1));
    return [createHeader(entry, content.length, modifiedAt), content, padding];
  });
  return Buffer.concat([...parts, new Uint8Array(2 * blockBytes)]);
}

/** https://pubs.opengroup.org/onlinepubs/9799919799/utilities/pax.html#tag_20_94_13_06 */
function createHeader({ path, mode, owner = 0 }: TarEntry, size: number, modifiedAt: number) {
  if (path.length > 100) throw new Error(`${path} is too long for a tar archive.`);
  const isFolder = path.endsWith("/");
  const header = Buffer.alloc(blockBytes);
  const writeOctal = (value: number, offset: number, digits: number) =>
    header.write(value.toString(8).padStart(digits, "0"), offset);
  header.write(path, 0);
  writeOctal(mode ?? (isFolder ? 0o755 : 0o644), 100, 7);
  writeOctal(owner, 108, 7);
  writeOctal(owner, 116, 7);
  writeOctal(size, 124, 11);
  writeOctal(modifiedAt, 136, 11);
  // The checksum is computed with spaces in its own field.
  header.fill(" ", 148, 156);
  header.write(isFolder ? "5" : "0", 156);
  header.write("ustar\u000000", 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return header;
}
