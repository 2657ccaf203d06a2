import { Button } from "@mantine/core";
import { type ErrorComponentProps, Link } from "@tanstack/react-router";
import { type ReactNode, useEffect } from "react";
import { connection } from "../data/connection.ts";
import { Mark } from "../components/mark.tsx";

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
    <Plain title="Signalbox does not answer">
      <p className="quiet">
        {reason ??
          "The server is not running, or the network between you and it is gone. This page goes on by itself as soon as it answers."}
      </p>
      <Button onClick={onRetry}>Try again</Button>
    </Plain>
  );
}

export function NothingHere() {
  return (
    <Plain title="There is nothing here">
      <p className="quiet">The address is wrong, or what it led to was deleted.</p>
      <Button component={Link} to="/">
        Go to Monitors
      </Button>
    </Plain>
  );
}

/** A fault of ours, or a file of a version that is gone: loading the page again helps with both. */
export function PageFailed({ error }: ErrorComponentProps) {
  return (
    <Plain title="This page failed">
      <p className="quiet">{error instanceof Error ? error.message : String(error)}</p>
      <Button onClick={() => location.reload()}>Load again</Button>
    </Plain>
  );
}
