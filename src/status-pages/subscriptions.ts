import type { PageHead } from "./store.ts";
import type { SignUpResult } from "./subscribe-page.tsx";

/** What the public pages need of subscribers. */
export type Subscriptions = {
  /** Takes a mailbox that somebody gave on the page. */
  signUp(request: Request, page: PageHead): Promise<NonNullable<SignUpResult>>;
  /** Answers a link of an e-mail; null for one that we did not make. */
  answer(
    request: Request,
    verb: "confirm" | "unsubscribe",
    token: string,
  ): Promise<Response | null>;
};
