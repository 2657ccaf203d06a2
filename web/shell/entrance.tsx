import { type ReactNode, useEffect } from "react";
import { Unreachable } from "../data/client.ts";
import { useSession } from "../data/session.ts";
import { router } from "../router.tsx";
import { ServerDown } from "./failures.tsx";

/** Path to redirect to in this state of the session; null if `path` is allowed. */
function findRightPath(state: string, path: string): string | null {
  if (path === "/invitation") return null;
  if (state === "set-up") return path === "/set-up" ? null : "/set-up";
  if (state === "signed-in") return ["/sign-in", "/set-up"].includes(path) ? "/" : null;
  return path === "/sign-in" ? null : "/sign-in";
}

/**
 * Renders nothing until the session is loaded, then redirects to the sign-in or setup page if
 * needed.
 */
export function Entrance({ children }: { children: ReactNode }) {
  const { data, error, refetch } = useSession();
  const state = data?.state;
  useEffect(() => {
    if (state === undefined) return;
    const { pathname, search, hash } = location;
    const rightPath = findRightPath(state, pathname);
    if (rightPath === null) return;
    const currentPath =
      rightPath === "/sign-in" && pathname !== "/" ? pathname + search : undefined;
    const returnPath = new URLSearchParams(search).get("back");
    if (rightPath === "/" && returnPath !== null && /^\/(?!\/)/.test(returnPath))
      router.history.replace(returnPath);
    else
      router.history.replace(
        rightPath +
          (currentPath === undefined ? "" : `?back=${encodeURIComponent(currentPath)}`) +
          (rightPath === "/set-up" ? hash : ""),
      );
  }, [state]);
  if (data === undefined && error !== null)
    return (
      <ServerDown
        reason={error instanceof Unreachable ? null : error.message}
        onRetry={() => void refetch()}
      />
    );
  if (data === undefined) return null;
  return children;
}
