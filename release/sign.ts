/**
 * Signs a file with the releaser's SSH key, and writes the signature to `FILE.sig`. Reports a
 * missing key. `ssh-keygen -Y verify` verifies signatures; see ssh-keygen(1).
 */
export function sign(file: string, key: string | undefined) {
  if (key === undefined) {
    console.warn("NOT SIGNED: SIGNALBOX_SIGNING_KEY names no SSH key.");
    return;
  }
  const command = ["ssh-keygen", "-q", "-Y", "sign", "-f", key, "-n", "signalbox-release", file];
  const { success, stderr } = Bun.spawnSync(command);
  if (!success) throw new Error(`${file} can't be signed: ${stderr.toString().trim()}`);
}
