import { Button, FileButton, Input } from "@mantine/core";
import { useRef, useState } from "react";
import { logoTypes } from "../../../src/status-pages/schema.ts";
import { ApiError, dataOf } from "../../data/client.ts";
import { cacheStatusPage, pageRoutes, type StatusPage } from "../../data/status-pages.ts";
import { notify } from "../../components/toasts.tsx";
import { BusyButton } from "../../components/busy-button.tsx";

/** The page's logo; it is stored as soon as it is chosen. */
export function LogoField({
  page,
  onChanged,
}: {
  page: StatusPage;
  onChanged: (page: StatusPage) => void;
}) {
  const { id, logoUrl, visibility } = page;
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const again = useRef<() => void>(null);

  async function change(file: File | null) {
    setBusy(true);
    setError(null);
    try {
      const { logo } = pageRoutes(id);
      const data = await dataOf(file === null ? logo.delete() : logo.put(file));
      onChanged(data);
      cacheStatusPage(data);
      notify(file === null ? "Logo removed" : "Logo saved");
    } catch (failure) {
      const [detail] = failure instanceof ApiError ? failure.details : [];
      const words = failure instanceof Error ? failure.message : String(failure);
      setError(detail === undefined ? words : `The image ${detail.message}.`);
    } finally {
      setBusy(false);
      // The same file may be chosen again after it was mended.
      again.current?.();
    }
  }

  return (
    <Input.Wrapper
      label="Logo"
      labelElement="div"
      description="PNG, WebP or SVG, at most 256 KiB. Saved at once."
      error={error}
    >
      <div className="logo-field">
        {logoUrl !== null && visibility === "public" && <img src={logoUrl} alt="Current logo" />}
        <FileButton
          resetRef={again}
          accept={logoTypes.join(",")}
          onChange={(file) => file && void change(file)}
        >
          {(props) => (
            <BusyButton {...props} size="xs" loading={busy}>
              {logoUrl === null ? "Upload" : "Replace"}
            </BusyButton>
          )}
        </FileButton>
        {logoUrl !== null && (
          <Button size="xs" variant="subtle" disabled={busy} onClick={() => void change(null)}>
            Remove
          </Button>
        )}
      </div>
    </Input.Wrapper>
  );
}
