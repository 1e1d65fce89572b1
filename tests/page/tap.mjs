// TAP output for the tests of the page. Call test(name, body) for each test, then finish().
let count = 0;
let failed = 0;

export function test(name, body) {
  count++;
  try {
    body();
    console.log(`ok ${count} - ${name}`);
  } catch (error) {
    failed++;
    console.log(`not ok ${count} - ${name}`);
    console.log(String(error.stack).replace(/^/gm, "# "));
  }
}

export function finish() {
  console.log(`1..${count}`);
  process.exitCode = failed ? 1 : 0;
}
