#!/bin/sh
# One line of work, run by `sluice sub --exec` for each message: the line comes on stdin.
# A line that holds the word fails until the marker file exists; any other is written to this worker's own record.
# No other program is started, so that thousands of lines stay a matter of seconds.
IFS= read -r line
case $line in
  *"$DEMO_WORD"*)
    if [ ! -e "$DEMO_MARKER" ]; then
      printf 'cannot handle "%s" (attempt %s)\n' "$DEMO_WORD" "$SLUICE_DELIVERY_COUNT" >&2
      exit 1
    fi
    ;;
esac
printf '%s %s\n' "$SLUICE_MESSAGE_ID" "$line" >>"$DEMO_RECORD"
