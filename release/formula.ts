import manifest from "../package.json" with { type: "json" };

/** Renders the Homebrew formula for executables below the URL `base`, with their SHA-256 by file name. */
export function renderFormula(base: string, hashOf: (name: string) => string): string {
  const renderBinary = (system: string) => `      url "${base}/signalbox-${system}"
      sha256 "${hashOf(`signalbox-${system}`)}"`;
  const systemsOf = (system: string) => `    on_arm do
${renderBinary(`${system}-arm64`)}
    end
    on_intel do
${renderBinary(`${system}-x64`)}
    end`;
  return `class Signalbox < Formula
  desc "${manifest.description}"
  homepage "${base}"
  version "${manifest.version}"
  license "${manifest.license}"

  on_macos do
${systemsOf("macos")}
  end
  on_linux do
${systemsOf("linux")}
  end

  def install
    bin.install Dir["signalbox-*"].first => "signalbox"
  end

  service do
    run [opt_bin/"signalbox", "serve", "--data-dir", var/"signalbox"]
    keep_alive successful_exit: false
    log_path var/"log/signalbox.log"
    error_log_path var/"log/signalbox.log"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/signalbox version")
  end
end
`;
}
