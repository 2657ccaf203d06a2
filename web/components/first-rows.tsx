/** Limits a long list to its first rows, until the person wants all or prints them. */
import { Button } from "@mantine/core";
import { useEffect, useState } from "react";
import { flushSync } from "react-dom";
import { t } from "../language/text.ts";
import { formatCount } from "./display/format.ts";

/** On phones a row can be a card of 200 px. */
const phone = "(max-width: 760px)";

export function useFirstRows<T>(rows: readonly T[]): {
  shown: readonly T[];
  showAll: () => void;
} {
  const [isWhole, setWhole] = useState(false);
  useEffect(() => {
    const showForPrint = () => flushSync(() => setWhole(true));
    addEventListener("beforeprint", showForPrint);
    return () => removeEventListener("beforeprint", showForPrint);
  }, []);
  // A few more rows than the first ones don't deserve a button.
  const [firstRows, fewMore] = matchMedia(phone).matches ? [6, 2] : [15, 5];
  const isShort = rows.length <= firstRows + fewMore;
  return {
    shown: isWhole || isShort ? rows : rows.slice(0, firstRows),
    showAll: () => setWhole(true),
  };
}

/** A button below the first rows, while there are more. */
export function ShowAllRows({
  shown,
  rows,
  onShow,
}: {
  shown: readonly unknown[];
  rows: readonly unknown[];
  onShow: () => void;
}) {
  if (shown.length === rows.length) return null;
  return (
    <Button variant="subtle" fullWidth className="show-all-rows" onClick={onShow}>
      {t("Show all {count}", { count: formatCount(rows.length) })}
    </Button>
  );
}
