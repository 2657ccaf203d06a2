import { Button } from "@mantine/core";
import type { Meta } from "../data/client.ts";

/** `21–40 of 96`, and the way to the pages beside; nothing where there is one page. */
export function Pager({ meta, onPage }: { meta: Meta; onPage: (page: number) => void }) {
  const { page, per_page, total } = meta;
  if (total <= per_page && page === 1) return null;
  const first = (page - 1) * per_page + 1;
  return (
    <nav className="pager" aria-label="Pages">
      <span className="num faint">
        {first.toLocaleString("en")}–{Math.min(total, page * per_page).toLocaleString("en")} of{" "}
        {total.toLocaleString("en")}
      </span>
      <Button size="xs" disabled={page === 1} onClick={() => onPage(page - 1)}>
        Newer
      </Button>
      <Button size="xs" disabled={page * per_page >= total} onClick={() => onPage(page + 1)}>
        Older
      </Button>
    </nav>
  );
}
