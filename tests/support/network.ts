import { ownRange } from "./binary.ts";
import { have } from "./real-targets.ts";

function ip(...args: string[]): boolean {
  return Bun.spawnSync(["ip", ...args], { stdout: "ignore", stderr: "ignore" }).success;
}

/**
 * Two simulated machines with a cable between them; null without root's rights. Neither is this
 * machine, whose browsers would notice a changed network and stop loading.
 */
export function network() {
  // Names contain the process id, so they are unique.
  const number = ownRange();
  const [here, there] = [`sbx-${number}-a`, `sbx-${number}-b`];
  const cable = "cable";
  const addresses = { [here]: "10.213.0.1", [there]: "10.213.0.2" };
  const machineOf = (name: string) => ({
    address: addresses[name] ?? "",
    /** A command prefix that runs on this machine. */
    command: (...command: string[]) => ["ip", "netns", "exec", name, ...command],
  });
  const remove = () => {
    for (const name of [here, there]) ip("netns", "delete", name);
  };
  // Left by a killed process.
  remove();
  const made =
    have("ip") &&
    ip("netns", "add", here) &&
    ip("netns", "add", there) &&
    ip("-n", here, "link", "add", cable, "type", "veth", "peer", "name", cable, "netns", there) &&
    Object.entries(addresses).every(
      ([name, address]) =>
        ip("-n", name, "address", "add", `${address}/24`, "dev", cable) &&
        ip("-n", name, "link", "set", cable, "up") &&
        ip("-n", name, "link", "set", "lo", "up"),
    );
  if (!made) {
    remove();
    return null;
  }
  return {
    here: machineOf(here),
    there: machineOf(there),
    unplug: () => void ip("-n", here, "link", "set", cable, "down"),
    plug: () => void ip("-n", here, "link", "set", cable, "up"),
    [Symbol.dispose]: remove,
  };
}
