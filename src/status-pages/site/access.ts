/** Admits visitors to status pages: by visibility, address, password, access token, or as signed-in people. */
import { isIP } from "node:net";
import { AppError, rateLimitError } from "../../core/errors.ts";
import type { OwnHosts } from "../../core/security/own-hosts.ts";
import { normalizeAddress } from "../../core/security/client-network.ts";
import type { Vault } from "../../core/security/secrets.ts";
import { createBlockList, familyOf, parseRange } from "../../core/security/target-guard.ts";
import type { Clock } from "../../core/time/clock.ts";
import type { Store } from "../../database/store.ts";
import { isOurs } from "../../http/access/host-guard.ts";
import type { NetworkLimit } from "../../http/access/rate-limit.ts";
import type { Sessions } from "../../http/access/session.ts";
import { respondWithSmallPage } from "../../http/responses/small-page.ts";
import { type Audience, isAllowedMember, isAllowedVisitor } from "../access-rules.ts";
import { isTokenOfPage } from "../access-tokens/store.ts";
import type { Language } from "../languages/language.ts";
import { buildLookStyle } from "../rendering/look.ts";
import {
  findBranding,
  findHeadByHost,
  findVisitorProviders,
  type PageBranding,
  type PageHead,
} from "../store.ts";
import { hasAccessToken, hashAccessToken, openPass } from "./credentials.ts";
import { hostOf } from "./hosts.ts";
import { languageOf } from "./return-path.ts";
import type { PageLock, VisitedPage } from "./lock.ts";

/** An open page, as a visitor sees it. */
export type Admission = {
  audience: Audience;
  /** Whether an access token opened the page. Web pages of any origin can then read the response. */
  isByToken: boolean;
  /** The signed-in person, whose address can be unknown; null for all other visitors. */
  person: { email: string | null } | null;
};

type Dependencies = {
  store: Store;
  vault: Vault;
  clock: Clock;
  sessions: Sessions;
  ownHosts: OwnHosts;
  lock: PageLock;
  addressOf: (request: Request) => string;
  /** Wrong access tokens per client network and minute. */
  wrongTokens: NetworkLimit;
};

export class PageAccess {
  readonly #dependencies: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  /** Returns the visitor's access to the page; null if the page is closed for the visitor. */
  async admit(request: Request, head: PageHead): Promise<Admission | null> {
    const isSplit = head.hasConcealed || head.visibility === "signed-in";
    if (hasAccessToken(request)) {
      const hash = hashAccessToken(request);
      const isValid = hash !== null && (await isTokenOfPage(this.#dependencies.store, head, hash));
      const audience = isSplit ? "signed-in" : "everyone";
      return isValid ? { audience, isByToken: true, person: null } : null;
    }
    const person = isSplit ? await this.#findPerson(request, head) : null;
    if (!(await this.#isOpenFor(request, head, person !== null))) return null;
    return { audience: person === null ? "everyone" : "signed-in", isByToken: false, person };
  }

  /** Responds to a visitor for whom the page is closed, and who returns to `path` after signing in. */
  async refuse(
    request: Request,
    head: PageHead,
    page: VisitedPage,
    path: string,
  ): Promise<Response> {
    const { store, lock } = this.#dependencies;
    const { language } = page;
    if (hasAccessToken(request)) throw this.createWrongTokenError(request);
    switch (head.visibility) {
      case "password":
        return lock.ask(head, page, path);
      case "signed-in": {
        const providers = await findVisitorProviders(store, head);
        return respondChoice(await findBranding(store, head), page, path, providers);
      }
      default: {
        const address = this.#dependencies.addressOf(request);
        return respondClosed(
          await findBranding(store, head),
          language,
          language.translate("closedNetwork"),
          `<p>${Bun.escapeHTML(language.translate("closedNetworkText", { address }))}</p>`,
        );
      }
    }
  }

  /** Counts a wrong token, and returns its error: RATE_LIMITED after too many from the network. */
  createWrongTokenError(request: Request): AppError {
    const wait = this.#dependencies.wrongTokens.take(this.#dependencies.addressOf(request));
    return wait > 0
      ? rateLimitError(wait, "Too many wrong access tokens from this network.")
      : new AppError(
          "FORBIDDEN",
          "This access token is not valid for this status page. It was revoked, or it belongs to another page.",
        );
  }

  /**
   * Finds the person whose pass the request has; null if the session, membership, role, provider or domain no longer
   * allows it.
   */
  async #findPerson(request: Request, head: PageHead): Promise<Admission["person"]> {
    const { store, vault, clock } = this.#dependencies;
    const pass = openPass(vault, request, head);
    if (pass === null) return null;
    if (!("sessionId" in pass)) {
      const { providerId, email, until } = pass;
      if (until <= clock()) return null;
      const providers = await findVisitorProviders(store, head);
      const provider = providers.find(({ id }) => id === providerId);
      if (provider === undefined || !isAllowedVisitor(provider.domains, email)) return null;
      // Without domains, it could not be checked later whether the address still belongs to a visitor.
      return { email: provider.domains.length === 0 ? null : email };
    }
    let email = "";
    const isMember = await this.#dependencies.sessions.isStillOpen(pass.sessionId, (session) => {
      ({ email } = session.person);
      return session.organizations.some(
        (one) => one.id === head.organizationId && isAllowedMember(head.allowedRoles, one),
      );
    });
    return isMember ? { email } : null;
  }

  async #isOpenFor(request: Request, head: PageHead, isSignedIn: boolean): Promise<boolean> {
    switch (head.visibility) {
      case "public":
        return true;
      case "password":
        return this.#dependencies.lock.isOpenFor(request, head);
      case "signed-in":
        return isSignedIn;
      case "addresses":
        return this.#isFromAllowedAddress(request, head);
      case "hidden":
        return false;
    }
  }

  /**
   * An address is no secret that a website lacks: by DNS rebinding, a foreign name could lead a browser in the network
   * to the page. So the page also requires a name of the appliance, or its own.
   */
  async #isFromAllowedAddress(request: Request, head: PageHead): Promise<boolean> {
    const { store, ownHosts, addressOf } = this.#dependencies;
    if (!isInRanges(head.allowedAddresses, addressOf(request))) return false;
    if (isOurs(request, ownHosts)) return true;
    return (await findHeadByHost(store, hostOf(request)))?.id === head.id;
  }
}

/** Whether an address is one of these addresses, or in one of these CIDR ranges. */
export function isInRanges(allowed: readonly string[], address: string): boolean {
  const client = normalizeAddress(address);
  if (client === null) return false;
  const ranges = allowed.flatMap((text) => {
    const range = parseRange(text.includes("/") ? text : `${text}/${isIP(text) === 4 ? 32 : 128}`);
    return range === null ? [] : [range];
  });
  return createBlockList(ranges).check(client, familyOf(client));
}

/** Creates the page on which visitors choose how to sign in. They return to `path`. */
export function respondChoice(
  branding: PageBranding,
  { home, language }: Pick<VisitedPage, "home" | "language">,
  path: string,
  providers: readonly { id: string; name: string }[],
): Response {
  const ways = [
    { way: "account", label: language.translate("signIn") },
    ...providers.map(({ id, name }) => ({
      way: `provider=${id}`,
      label: language.translate("continueWith", { name }),
    })),
  ];
  const chosen = languageOf(path);
  const links = ways.map(({ way, label }) => {
    const href = `${home === "/" ? "" : home}/sign-in?${way}${chosen ? `&${chosen}` : ""}&to=${encodeURIComponent(path)}`;
    return `<a class="go" href="${Bun.escapeHTML(href)}">${Bun.escapeHTML(label)}</a>`;
  });
  return respondClosed(
    branding,
    language,
    language.translate("signInToSee"),
    `<p>${Bun.escapeHTML(language.translate("forAccounts"))}</p>${links.join("")}`,
  );
}

/** Creates the page that names a closed status page. `content` is HTML. */
function respondClosed(
  branding: PageBranding,
  language: Language,
  heading: string,
  content: string,
): Response {
  return respondWithSmallPage(
    branding.title,
    `<div class="lock"><h1>${Bun.escapeHTML(heading)}</h1>${content}</div>`,
    403,
    {},
    { ...branding, style: buildLookStyle(branding), language },
  );
}
