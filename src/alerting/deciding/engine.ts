/** The alert engine: follows events, decides on alerts, and sends deliveries. */
import { type Leases, perLease, underLease, whileHeld } from "../../cluster/leases.ts";
import { readSince } from "../../events/log.ts";
import type { EventReader } from "../../events/reader.ts";
import type { SendingContext } from "../sending/attempt.ts";
import { AlertFanOut } from "./fan-out.ts";
import { channelReceivers } from "../channel-receivers.ts";
import { outboxMetrics } from "../metrics.ts";
import { Notifier } from "../sending/notifier.ts";
import type { Receivers } from "../sending/queue.ts";

/** Interval of decisions that are due without an event, and of due deliveries. */
const tickMs = 1_000;
/** Time for requests in flight when the appliance stops. */
const graceMs = 3_000;

type Dependencies = SendingContext & {
  leases: Leases;
  events: EventReader;
  /** Receivers of notices to status page subscribers. */
  subscribers: Record<"mailbox" | "webhook", Receivers>;
  random?: () => number;
  /** Rows of one write; tests set fewer. */
  rowsAtOnce?: number;
  /** Unix milliseconds of the start or of the last standstill. */
  runningSince?: () => number;
};

/** Follows the events, decides on alerts, and delivers them until they arrive. */
export function alertEngine(dependencies: Dependencies) {
  const { store, clock, log, events, leases } = dependencies;
  const onWrite = () => sending.wake();
  const fanNow = perLease(
    leases,
    "alerting",
    (lease) => new AlertFanOut({ ...dependencies, store: underLease(store, lease), onWrite }),
  );
  const receivers = { channel: channelReceivers(dependencies), ...dependencies.subscribers };
  const sending = new Notifier({ ...dependencies, receivers });
  const deciding = whileHeld(dependencies, "alerting", async () => {
    const follower = fanNow()?.follower;
    if (follower === undefined) return async () => {};
    const stop = await follower.start(events, log);
    return async () => {
      await stop();
      // If it fails, the next follower reads these events again and finds nothing to send.
      await follower.save().catch(() => {});
    };
  });
  let ticking: ReturnType<typeof setInterval> | null = null;

  async function tick() {
    await fanNow()?.tick();
    sending.wake();
  }

  return {
    metrics: async () => [...sending.metrics(), ...(await outboxMetrics(store, clock()))],
    async start() {
      await sending.start();
      await deciding.start();
      ticking = setInterval(() => {
        tick().catch((error: unknown) =>
          log.error("deciding about alerts failed", { cause: String(error) }),
        );
      }, tickMs);
      sending.wake();
    },
    /** Stops; undelivered alerts are sent after the next start. */
    async stop() {
      if (ticking !== null) clearInterval(ticking);
      await deciding.stop();
      await sending.stop(graceMs);
    },
    /** Saves the position in the event log, if nothing else did. */
    save: async () => fanNow()?.follower.save(),
    /** Creates deliveries from events and sends due ones: for tests, instead of `start`. */
    async runOnce() {
      const fan = fanNow();
      if (fan !== null) {
        const { follower } = fan;
        await follower.take(await readSince(store, (await follower.cursor.read()).seq, 10_000));
        await follower.drain();
        await fan.tick();
      }
      await sending.runOnce();
    },
  };
}
