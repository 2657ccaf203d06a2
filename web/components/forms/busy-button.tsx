import { Button, type ButtonProps } from "@mantine/core";
import type { ComponentPropsWithRef, MouseEvent } from "react";

type Props = ButtonProps & Omit<ComponentPropsWithRef<"button">, keyof ButtonProps>;

/** A button that shows that it is `loading` and takes no click meanwhile, but keeps the focus, which a disabled one would lose. */
export function BusyButton({ loading = false, disabled = false, ...props }: Props) {
  return (
    <Button
      {...props}
      loading={loading}
      disabled={disabled}
      renderRoot={(root) => (
        <button
          {...root}
          disabled={disabled}
          aria-disabled={loading || undefined}
          onClick={loading ? (event: MouseEvent) => event.preventDefault() : root["onClick"]}
        />
      )}
    />
  );
}
