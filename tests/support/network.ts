import { ownRange } from "./binary.ts";
import { have } from "./real-targets.ts";

function ip(...args: string[]): boolean {
  return Bun.spawnSync(["ip", ...args], { stdout: "ignore", stderr: "ignore" }).success;
}

/** A network of its own with one cable to this machine; null where this machine does not let us make one (root alone may). */
export function network() {
  // No other process has this number, so nobody has these names and addresses.
  const number = ownRange();
  const [name, ours, theirs] = [`sbx-${number}`, `so-${number}`, `st-${number}`];
  const subnet = `10.213.${number}`;
  const inside = (...command: string[]) => ["ip", "netns", "exec", name, ...command];
  const remove = () => {
    ip("link", "delete", ours);
    ip("netns", "delete", name);
  };
  // One that was killed may have left them.
  remove();
  const made =
    have("ip") &&
    ip("netns", "add", name) &&
    ip("link", "add", ours, "type", "veth", "peer", "name", theirs, "netns", name) &&
    ip("address", "add", `${subnet}.1/24`, "dev", ours) &&
    ip("link", "set", ours, "up") &&
    ip("-n", name, "address", "add", `${subnet}.2/24`, "dev", theirs) &&
    ip("-n", name, "link", "set", theirs, "up") &&
    ip("-n", name, "link", "set", "lo", "up");
  if (!made) {
    remove();
    return null;
  }
  return {
    /** A command that runs in it. */
    inside,
    /** Addresses of this machine and of what runs inside. */
    here: `${subnet}.1`,
    there: `${subnet}.2`,
    unplug: () => void ip("link", "set", ours, "down"),
    plug: () => void ip("link", "set", ours, "up"),
    [Symbol.dispose]: remove,
  };
}
