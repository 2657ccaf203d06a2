import { getOwnRange } from "./binary.ts";
import { hasPrograms } from "./real-targets.ts";

function runIp(...args: string[]): boolean {
  return Bun.spawnSync(["ip", ...args], { stdout: "ignore", stderr: "ignore" }).success;
}

/**
 * Two simulated machines with a cable between them; null without root's rights. Neither is this
 * machine, whose browsers would notice a changed network and stop loading.
 */
export function createNetwork() {
  // Names contain the process id, so they are unique.
  const number = getOwnRange();
  const [hereName, thereName] = [`sbx-${number}-a`, `sbx-${number}-b`];
  const cable = "cable";
  const addresses = { [hereName]: "10.213.0.1", [thereName]: "10.213.0.2" };
  const createMachineAt = (name: string) => ({
    address: addresses[name] ?? "",
    /** A command prefix that runs on this machine. */
    command: (...command: string[]) => ["ip", "netns", "exec", name, ...command],
  });
  const remove = () => {
    for (const name of [hereName, thereName]) runIp("netns", "delete", name);
  };
  // Left by a killed process.
  remove();
  const isCreated =
    hasPrograms("ip") &&
    runIp("netns", "add", hereName) &&
    runIp("netns", "add", thereName) &&
    runIp(
      "-n",
      hereName,
      "link",
      "add",
      cable,
      "type",
      "veth",
      "peer",
      "name",
      cable,
      "netns",
      thereName,
    ) &&
    Object.entries(addresses).every(
      ([name, address]) =>
        runIp("-n", name, "address", "add", `${address}/24`, "dev", cable) &&
        runIp("-n", name, "link", "set", cable, "up") &&
        runIp("-n", name, "link", "set", "lo", "up"),
    );
  if (!isCreated) {
    remove();
    return null;
  }
  return {
    here: createMachineAt(hereName),
    there: createMachineAt(thereName),
    unplug: () => void runIp("-n", hereName, "link", "set", cable, "down"),
    plug: () => void runIp("-n", hereName, "link", "set", cable, "up"),
    [Symbol.dispose]: remove,
  };
}
