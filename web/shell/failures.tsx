/** Full-page messages: server down, loading, page not found, and unexpected errors. */
import { Button } from "@mantine/core";
import { type ErrorComponentProps, Link } from "@tanstack/react-router";
import { type ReactNode, useEffect, useLayoutEffect } from "react";
import { connection } from "../data/connection.ts";
import { Waiting } from "../components/waiting.tsx";
import { Mark } from "../components/display/mark.tsx";
import { t } from "../language/text.ts";

/** Removes the outline of the frame, which the HTML shows until the script has rendered something. */
export const useReplacedOutline = () =>
  useLayoutEffect(() => document.getElementById("frame-outline")?.remove(), []);

function PlainFailure({ title, children }: { title: string; children: ReactNode }) {
  useReplacedOutline();
  return (
    <main className="plain">
      <Mark state="down" size={40} />
      <h1>{title}</h1>
      {children}
    </main>
  );
}

/** Shown if the server does not respond or returns an error. Retries once it responds. */
export function ServerDown({ reason, onRetry }: { reason: string | null; onRetry: () => void }) {
  useEffect(() => connection.onRestored(onRetry), [onRetry]);
  return (
    <PlainFailure title={t("Signalbox is not responding")}>
      <p className="quiet">
        {reason ??
          t(
            "The server is not running or cannot be reached. This page continues automatically when the server responds.",
          )}
      </p>
      <Button onClick={onRetry}>{t("Try again")}</Button>
    </PlainFailure>
  );
}

/** Shown in the frame while the script of a page loads or waits for the server. */
export const LoadingPage = () => (
  <div className="arriving">
    <Waiting subject={t("The script of this page")} />
  </div>
);

export function NothingHere() {
  return (
    <PlainFailure title={t("Page not found")}>
      <p className="quiet">{t("The address is wrong, or the record was deleted.")}</p>
      <Button component={Link} to="/">
        {t("Go to Monitors")}
      </Button>
    </PlainFailure>
  );
}

/**
 * Shown after an unexpected error, or if a script file is missing after an upgrade. Reloading helps
 * with both.
 */
export function PageFailed({ error, reset }: ErrorComponentProps) {
  return (
    <PlainFailure title={t("Something went wrong")}>
      <p className="quiet">{error instanceof Error ? error.message : String(error)}</p>
      <div className="flex gap-8">
        <Button onClick={reset}>{t("Try again")}</Button>
        {/* Wait for the server first: otherwise the browser would show its own error page. */}
        <Button onClick={() => void connection.waitForAnswer().then(() => location.reload())}>
          {t("Reload")}
        </Button>
      </div>
    </PlainFailure>
  );
}
