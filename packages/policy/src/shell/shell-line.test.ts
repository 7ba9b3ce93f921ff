import { describe, expect, test } from "vitest";
import { expandLine } from "./expand-line.ts";
import { readShellLine } from "./shell-line.ts";

/** Each command as its words; `?` for an unknown word. */
function read(line: string): string[] {
  const { commands, doubt } = readShellLine(line);
  expect(doubt).toBeUndefined();
  return commands.map(({ words, redirects, assigns }) =>
    [
      ...assigns.map(({ name, value }) => `${name}:=${value.text ?? "?"}`),
      ...words.map(({ text }) => text ?? "?"),
      ...redirects.map(({ operator, target }) => `${operator}(${target.text ?? "?"})`),
    ].join(" "),
  );
}

/** Every program that a line runs, also indirectly. */
const programs = (line: string): string[] => expandLine(line).units.map(({ program }) => program ?? "?");

describe("a line is parsed as the shell parses it", () => {
  test.each<[string, string[]]>([
    ["git status", ["git status"]],
    ["git status && rm -rf x", ["git status", "rm -rf x"]],
    ["a; b & c | d || e |& f\ng", ["a", "b", "c", "d", "e", "f", "g"]],
    ["\\rm x", ["rm x"]],
    [`r''m "x"y'z'`, ["rm xyz"]],
    [`$'\\x72\\155' $'a\\tb'`, ["rm a\tb"]],
    [`echo "a\\$b \\n" a\\ b`, ["echo a$b \\n a b"]],
    ["r\\\nm x", ["rm x"]],
    ["ls # rm x", ["ls"]],
    ["ls#x", ["ls#x"]],
    ["X=1 Y='a b' env", ["X:=1 Y:=a b env"]],
    ["a >b 2>&1 <c >>d &>e", ["a >(b) >&(1) <(c) >>(d) &>(e)"]],
    ["(cd a && b) > c", ["cd a", "b", ">(c)"]],
    ["{ a; b; }", ["a", "b"]],
    ["if a; then b; elif c; then d; else e; fi", ["a", "b", "c", "d", "e"]],
    ["while a; do b; done < c", ["a", "b", "<(c)"]],
    ["for f in x $(y); do z $f; done", ["y", "f:=?", "z ?"]],
    ["! time -p a", ["a"]],
    ["echo $(rm x) `rm y`", ["rm x", "rm y", "echo ? ?"]],
    [`echo "$(rm "x y")"`, ["rm x y", "echo ?"]],
    ["echo `echo \\`rm x\\``", ["rm x", "echo ?", "echo ?"]],
    ["diff <(rm x) >(rm y)", ["rm x", "rm y", "diff ? ?"]],
    ["echo $HOME ${X} $1 $((1 + 2)) $", ["echo ? ? ? ? $"]],
    ["git stash@{0} HEAD^ a=b ~/x", ["git stash@{0} HEAD^ a=b ~/x"]],
    ["cat <<E\na $(rm x)\nE\nls", ["rm x", "cat <<(?)", "ls"]],
    ["cat <<'E'\n$(rm x)\nE", ["cat <<($(rm x)\n)"]],
    ["cat <<-E | sh\n\trm x\n\tE", ["cat <<(rm x\n)", "sh"]],
    ["cat <<< 'rm x'", ["cat <<<(rm x)"]],
    ["find . -exec rm {} \\;", ["find . -exec rm {} ;"]],
  ])("%j", (line, expected) => {
    expect(read(line).toSorted()).toEqual(expected.toSorted());
  });
});

describe("uncertain syntax becomes a doubt", () => {
  test.each([
    "echo (",
    "echo )",
    "f() { rm x; }",
    "f () { rm x; }",
    "function f { rm x; }",
    "case x in x) rm y;; esac",
    "select x in a; do rm $x; done",
    "coproc rm x",
    "[[ -f x ]]",
    "((x=1))",
    "echo $((a[$(rm x)]))",
    "echo $[1]",
    "echo ${x@P}",
    "echo ${!x}",
    "echo ${x:-$(rm y)}",
    "echo ${x:=y}",
    "a=(1 2)",
    "a[0]=1",
    `echo "x`,
    "echo 'x",
    "echo `x",
    "echo $(x",
    "echo \\",
    "cat <<E\nx",
    "cat <<E",
    "cat <<E $(a\nb)\nE",
    "a > ",
    "a >!b",
    "a <1-5>",
    "exec {fd}>x",
    "echo *(e:rm:)",
    "echo x(e:rm:)",
    "{ echo } always { rm x }",
    "{rm,x}",
    "repeat 3 rm x",
    `echo $"x"`,
    "echo $'\\cx'",
    "echo $'\\x00'",
    "rm\u00a0x",
    "echo \u202ex",
    "a\rb",
    "a\u0000b",
    `echo ${"$(".repeat(30)}${")".repeat(30)}`,
    `echo ${"x".repeat(30_000)}`,
  ])("%j", (line) => {
    expect(readShellLine(line).doubt).toEqual(expect.any(String));
  });
});

describe("programs that run other programs are followed", () => {
  test.each<[string, string[]]>([
    ["env CI=1 nice -n 5 rm x", ["env", "nice", "rm"]],
    ["timeout -s KILL 5s nohup rm x", ["timeout", "nohup", "rm"]],
    ["sudo -u me -n rm x", ["sudo", "rm"]],
    ["command rm x", ["command", "rm"]],
    ["command -v rm", ["command"]],
    ["xargs -0 -n 1 rm", ["xargs", "rm"]],
    ["busybox rm x", ["busybox", "rm"]],
    ["find . -name x -exec rm {} + -exec mv {} y \\;", ["find", "rm", "mv"]],
    [`bash -lc "a | b"`, ["bash", "a", "b"]],
    ["sh <<E\nrm x\nE", ["sh", "rm"]],
    ["bash <<< 'rm x'", ["bash", "rm"]],
    ["eval rm x", ["eval", "rm"]],
    [`eval "eval 'rm x'"`, ["eval", "eval", "rm"]],
    ["trap 'rm x' EXIT", ["trap", "rm"]],
    ["/usr/bin/RM.exe x", ["rm"]],
    ["$x y", ["?"]],
  ])("%j", (line, expected) => {
    expect(programs(line)).toEqual(expected);
    expect(expandLine(line).doubts).toEqual([]);
  });

  test.each([
    "bash",
    "echo x | sh",
    `bash -c "$x"`,
    "bash --rcfile x -i",
    "eval $x",
    "source x",
    ". ./x",
    "env -S 'rm x'",
    "sudo -s rm",
    "xargs --frobnicate rm",
    "alias ls=rm",
    "hash -p /bin/rm ls",
    "export PATH=.",
    "PATH=. ls",
    "GIT_PAGER=rm git log",
    "set -o functrace",
    "shopt -s expand_aliases",
    "read PATH",
    "fish -c 'rm x'",
    "watch rm x",
    "for PATH in .; do ls; done",
  ])("%j is doubtful", (line) => {
    expect(expandLine(line).doubts).not.toEqual([]);
  });
});
