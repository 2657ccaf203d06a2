import { Modal } from "@mantine/core";
import { useState } from "react";
import type { Monitor } from "../../../../src/monitoring/monitors/schema.ts";
import { v1 } from "../../../data/client.ts";
import { useSignedInPerson } from "../../../data/session.ts";
import { formatReason } from "../../../components/display/format.ts";
import { Panel } from "../../../components/page.tsx";
import { formatAbsolute, Time, useZone } from "../../../components/display/time.tsx";
import { useHeartbeat } from "../data.ts";
import { t } from "../../../language/text.ts";

/** The screenshot of the last failed browser check, if there is one. */
export function ScreenshotPanel({ monitor: { id, screenshotAt } }: { monitor: Monitor }) {
  return typeof screenshotAt === "string" && <LastFailure id={id} at={screenshotAt} />;
}

function LastFailure({ id, at }: { id: string; at: string }) {
  const [isEnlarged, setIsEnlarged] = useState(false);
  const { organization } = useSignedInPerson();
  const zone = useZone();
  const { data: heartbeat } = useHeartbeat(id, at);
  const query = new URLSearchParams({ organization: organization.id, at });
  const src = `${v1.monitors({ id }).screenshot["~path"]}?${query}`;
  const image = (
    <img
      className="screenshot"
      src={src}
      alt={t("The page on {at}", { at: formatAbsolute(at, zone) })}
      width={1280}
      height={800}
      loading="lazy"
    />
  );
  const reason = formatReason(heartbeat?.message ?? "");
  return (
    <Panel title={t("Last failure")}>
      <div className="last-failure">
        <button type="button" onClick={() => setIsEnlarged(true)}>
          {image}
        </button>
        <p>
          <Time at={at} as="short" />
          <b>{reason}</b>
        </p>
      </div>
      <Modal
        opened={isEnlarged}
        onClose={() => setIsEnlarged(false)}
        title={t("Last failure, {at}", { at: formatAbsolute(at, zone) })}
        size={1322}
      >
        <a href={src} target="_blank">
          {image}
        </a>
        <p className="quiet">{reason}</p>
      </Modal>
    </Panel>
  );
}
