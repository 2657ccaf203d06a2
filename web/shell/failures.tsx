/** What a page shows when it fails or does not exist. */
import { Button } from "@mantine/core";
import { type ErrorComponentProps, Link } from "@tanstack/react-router";
import { type ReactNode, useEffect } from "react";
import { connection } from "../data/connection.ts";
import { Mark } from "../components/display/mark.tsx";

function Plain({ title, children }: { title: string; children: ReactNode }) {
  return (
    <main className="plain">
      <Mark state="down" size={40} />
      <h1>{title}</h1>
      {children}
    </main>
  );
}

/** The page was loaded but its server does not answer, or not as it should. */
export function ServerDown({ reason, onRetry }: { reason: string | null; onRetry: () => void }) {
  useEffect(() => connection.onRestored(onRetry), [onRetry]);
  return (
    <Plain title="Signalbox is not responding">
      <p className="quiet">
        {reason ??
          "The server is not running or cannot be reached. This page continues by itself as soon as the server responds."}
      </p>
      <Button onClick={onRetry}>Try again</Button>
    </Plain>
  );
}

/** A page whose script is on its way, or waits for the server. */
export function Arriving() {
  const isLost = connection.use() === "lost";
  return (
    <main className="plain" role="status">
      <p className="quiet">{isLost ? "Reconnecting…" : "Loading…"}</p>
    </main>
  );
}

export function NothingHere() {
  return (
    <Plain title="Page not found">
      <p className="quiet">The address is wrong, or what was here has been deleted.</p>
      <Button component={Link} to="/">
        Go to Monitors
      </Button>
    </Plain>
  );
}

/** A fault of ours, or a file of a version that is gone: loading the page again helps with both. */
export function PageFailed({ error, reset }: ErrorComponentProps) {
  return (
    <Plain title="Something went wrong">
      <p className="quiet">{error instanceof Error ? error.message : String(error)}</p>
      <div className="flex gap-8">
        <Button onClick={reset}>Try again</Button>
        {/* Without the server a browser would show its own page from then on. */}
        <Button onClick={() => void connection.answers().then(() => location.reload())}>
          Reload
        </Button>
      </div>
    </Plain>
  );
}
