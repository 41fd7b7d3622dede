# Rendered by `packaging/build formula --url ... --sdist ...`, which fills in the words between @ signs. For an own tap:
# the dependencies are the pinned, hashed files of packaging/requirements.txt, as in the Linux packages.
class Collector < Formula
  include Language::Python::Virtualenv

  desc "Ships what Claude Code writes to an HTTP sink: incrementally, redacted"
  url "@URL@"
  version "@VERSION@"
  sha256 "@SHA256@"
  license "Apache-2.0"

  depends_on "python@3.13"

  def install
    virtualenv_create(libexec, "python3.13")
    system "python3.13", "-m", "pip", "--python", libexec/"bin/python", "install", "--only-binary", ":all:",
           "--require-hashes", "--requirement", "packaging/requirements.txt"
    system "python3.13", "-m", "pip", "--python", libexec/"bin/python", "install", "--no-deps", "."
    bin.install_symlink libexec/"bin/collector"
    (buildpath/"collector.1").write Utils.safe_popen_read(libexec/"bin/python", "packaging/reference.py", "man")
    man1.install "collector.1"
    { "bash" => bash_completion/"collector", "zsh" => zsh_completion/"_collector",
      "fish" => fish_completion/"collector.fish" }.each do |shell, path|
      path.write Utils.safe_popen_read(libexec/"bin/python", "packaging/reference.py", shell)
    end
  end

  service do
    run [opt_bin/"collector", "run"]
    keep_alive successful_exit: false
    process_type :background
    error_log_path var/"log/collector.log"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/collector --version")
  end
end
