# A tree without its history (an archive, a copy in a container) can be told its commit: EIGNN_COMMIT=… cmake --build …
set(commit "unknown")
if(NOT "$ENV{EIGNN_COMMIT}" STREQUAL "")
  set(commit $ENV{EIGNN_COMMIT})
elseif(GIT)
  execute_process(
    COMMAND ${GIT} -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
    OUTPUT_VARIABLE described
    OUTPUT_STRIP_TRAILING_WHITESPACE
    ERROR_QUIET
    RESULT_VARIABLE failed)
  if(NOT failed AND described)
    set(commit ${described})
  endif()
endif()
set(text "namespace eignn {\nconst char* built_commit() { return \"${commit}\"; }\n}  // namespace eignn\n")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} before)
endif()
if(NOT "${before}" STREQUAL "${text}")
  file(WRITE ${OUTPUT} "${text}")
endif()
