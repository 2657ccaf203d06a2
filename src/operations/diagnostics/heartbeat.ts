/** Requests an address each minute while this machine is healthy, so that another system notices when it is not. */
import { exchange as sendExchange, type Exchange } from "../../core/outgoing/http/exchange.ts";
import type { Log } from "../../core/log.ts";
import type { TargetGuard } from "../../core/security/target-guard.ts";
import { minuteMs } from "../../core/time/clock.ts";
import type { Store } from "../../database/store.ts";

const timeoutMs = 10_000;

type Dependencies = {
  /** The address, whose path is often a secret; null to send nothing. */
  url: string | null;
  store: Pick<Store, "writes">;
  targets: TargetGuard;
  log: Pick<Log, "warn" | "info">;
  /** Returns the resource that this machine lacks, so that its checks are not judged; null for none. */
  findCurrentLack: () => object | null;
  exchange?: Exchange;
};

export class Heartbeat {
  readonly #dependencies: Dependencies;
  readonly #stopping = new AbortController();
  #timer: ReturnType<typeof setInterval> | null = null;
  #isFailing = false;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  start() {
    if (this.#dependencies.url === null) return;
    void this.runOnce();
    this.#timer = setInterval(() => void this.runOnce(), minuteMs);
  }

  stop() {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#stopping.abort();
  }

  /** Sends one request, unless results can't be stored or checks can't be judged. Failures are logged once. */
  async runOnce() {
    const { url, store, findCurrentLack, log } = this.#dependencies;
    const isHealthy = store.writes.getFailingSince() === null && findCurrentLack() === null;
    if (url === null || !isHealthy) return;
    const reason = await this.#send(new URL(url));
    if (this.#stopping.signal.aborted) return;
    if (reason !== null && !this.#isFailing) log.warn("the heartbeat is not accepted", { reason });
    if (reason === null && this.#isFailing) log.info("the heartbeat is accepted again");
    this.#isFailing = reason !== null;
  }

  /** Returns why the heartbeat did not arrive; null if it did. */
  async #send(url: URL): Promise<string | null> {
    const { targets, exchange = sendExchange } = this.#dependencies;
    try {
      await targets.refresh();
      const { status } = await exchange(
        { url, method: "GET", headers: {}, body: null, verifyTls: true },
        { targets, timeoutMs, signal: this.#stopping.signal },
      );
      return status >= 200 && status < 300 ? null : `The response has the status ${status}.`;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }
}
