# Looking into parked coroutines with gdb:   (gdb) source tools/gdb/hocket.gdb
#
#   hocket-bt COROUTINE     the backtrace of a suspended coroutine<...> object
#   hocket-bt-record RECORD the same, from the record of a parked stack (context/switch.hpp)
#
# The registers of the selected thread are borrowed while the backtrace is printed, and put back; its innermost frame
# is selected afterwards.

define hocket-bt-record
  set $hocket_record = (unsigned long*) ($arg0)
  select-frame 0
  set $hocket_pc = $pc
  set $hocket_sp = $sp
  set $hocket_fp = $rbp
  set $pc = $hocket_record[0]
  set $rbp = $hocket_record[1]
  set $sp = (unsigned long) ($hocket_record + 2)
  backtrace
  set $pc = $hocket_pc
  set $sp = $hocket_sp
  set $rbp = $hocket_fp
  select-frame 0
end
document hocket-bt-record
Print the backtrace of a parked stack: hocket-bt-record RECORD
end

define hocket-bt
  if $arg0.block_->record == 0
    printf "not suspended: it runs, has resumed another coroutine, or has finished\n"
  else
    hocket-bt-record $arg0.block_->record
  end
end
document hocket-bt
Print the backtrace of a suspended coroutine: hocket-bt COROUTINE
end
